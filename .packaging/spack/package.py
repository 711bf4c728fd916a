# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

"""The recipe of Spack: it belongs into its repository of packages as py_gridworkloads/package.py."""

from spack.package import PythonPackage, depends_on, license, version  # noqa: A004


class PyGridworkloads(PythonPackage):
    """Toolbox and archive for workload traces of clusters, grids and clouds."""

    pypi = "gridworkloads/gridworkloads-0.1.0.tar.gz"

    license("Apache-2.0")

    # The checksum is in SHA256SUMS of the release.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")

    depends_on("py-babel@2.16:2", type=("build", "run"))
    depends_on("py-click@8.2:", type=("build", "run"))
    depends_on("py-duckdb@2.0:2", type=("build", "run"))
    depends_on("py-jinja2@3.1.5:", type=("build", "run"))
    depends_on("py-lxml@5.3:", type=("build", "run"))
    depends_on("py-markdown-it-py@3.0:", type=("build", "run"))
    depends_on("py-matplotlib@3.10:", type=("build", "run"))
    depends_on("py-numpy@2.1:", type=("build", "run"))
    depends_on("py-pandas@2.2.3:", type=("build", "run"))
    depends_on("py-pyarrow@18.0:", type=("build", "run"))
    depends_on("py-rich@13.9:", type=("build", "run"))
    depends_on("py-scipy@1.14.1:", type=("build", "run"))
    depends_on("py-tzdata@2024.1:", type=("build", "run"))
    depends_on("py-weasyprint@70.0:", type=("build", "run"))
    depends_on("py-zstandard@0.23:", type=("build", "run"))
