"""Neither device nor server keeps a true answer; each watcher is shown to catch a leak."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collector import Collector, command
from device import (
    CANARIES,
    NUMBER,
    SURVEY,
    Device,
    answer,
    expect_state,
    fill_in,
    press,
    review,
    wait_for,
)
from watchers import check_device, check_files, found_in

#: Where the page handles the answers that count.
REVIEW = "  const list = one('#review dl');"


def test_device_keeps_no_answer_at_any_time(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    device.context.route("**/reports", lambda route: route.abort())
    expect_state(page, "ready")
    fill_in(page, CANARIES)
    check_device(page, device, survey, [])
    review(page)
    # The review itself shows the answers to the respondent.
    check_device(page, device, survey, [])
    press(page)
    expect_state(page, "waiting")
    device.console.clear()  # The browser itself notes the connection that the test cut.
    check_device(page, device, survey)
    device.context.unroute("**/reports")
    expect_state(page, "stored")
    check_device(page, device, survey)


def test_reset_form_shows_no_answer_once_it_is_sent(
    device: Device, collector: Collector, survey: str
) -> None:
    page = device.visit(collector.page(survey))
    answer(page, CANARIES)
    assert page.locator("#answers input:checked").count() == 0
    assert page.locator("#debts--number").input_value() == ""
    assert page.locator("#review dd").count() == 0


def test_server_keeps_no_answer(device: Device, tmp_path: Path) -> None:
    with command(tmp_path, SURVEY) as served:
        answer(device.visit(served.page("canteen")), CANARIES)
        assert served.stored("canteen") == 1
        assert (tmp_path / "deniable.db-wal").is_file()
        check_files(tmp_path)
    check_files(tmp_path)


def test_watcher_of_the_server_catches_an_access_log(
    device: Device, serve_client: Callable[..., Collector], tmp_path: Path
) -> None:
    def logging(app: Any) -> Any:
        def logged(environ: dict[str, Any], start: Any) -> Any:
            with (tmp_path / "data" / "log").open("a") as log:
                log.write(environ["QUERY_STRING"] + "\n")
            return app(environ, start)

        return logged

    leaky = (
        "page/review.js",
        REVIEW,
        f"fetch('/healthz?' + JSON.stringify(answers)).catch(() => 0);\n{REVIEW}",
    )
    served = serve_client(leaky, around=logging)
    page = device.visit(served.page(served.publish(SURVEY)))
    answer(page, CANARIES)
    log = tmp_path / "data" / "log"
    wait_for(page, lambda: found_in({"log": log.read_bytes()}, [NUMBER]))
    with pytest.raises(AssertionError, match="is in it"):
        check_files(tmp_path / "data")
