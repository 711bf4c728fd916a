"""What is found out once: also by several threads at a time, and again after an error."""

import threading
import time

import pytest

from gwa.util.once import Once


def test_threads_that_ask_together_make_it_once():
    once, made = Once(), []

    def make():
        time.sleep(0.05)
        made.append(threading.get_ident())
        return len(made)

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(once("key", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8
    assert once("other", make) == 2


def test_what_fails_is_tried_again():
    once = Once()
    with pytest.raises(ZeroDivisionError):
        once("key", lambda: 1 / 0)
    assert once("key", lambda: 1) == 1


def test_what_is_made_may_ask_for_something_else():
    once = Once()
    assert once("outer", lambda: once("inner", lambda: 1) + 1) == 2
