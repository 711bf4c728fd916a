/* What stands before DuckDB in its worker, where the policy of a page does not hold: no other host is asked.
   DuckDB would fetch extensions from its makers; those for ICU, JSON and Parquet are in no package. */
(() => {
  const refuse = (address) => {
    const url = new URL(address, self.location.href);
    if (["data:", "blob:"].includes(url.protocol) || url.origin === self.location.origin) return;
    throw new Error(`${url.hostname} is not asked: nothing of this page leaves the site`);
  };
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    refuse(url);
    return open.call(this, method, url, ...rest);
  };
  const ask = self.fetch;
  self.fetch = (what, ...rest) => {
    refuse(what.url || what);
    return ask.call(self, what, ...rest);
  };
})();
