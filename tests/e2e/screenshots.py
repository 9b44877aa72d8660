"""Take pictures of every page in every state: `python tests/e2e/screenshots.py [FOLDER]`.

The program starts the real server, answers the examples in a real browser, on a phone and on a
desktop, and writes PNG files, by default into screenshots/. The pictures of the README and of the
tutorial go into docs/pictures/; with `--tutorial` only these are taken.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from collector import Collector, command
from device import Device
from explore_scenes import explore
from playwright.sync_api import Browser, Page, sync_playwright
from programs import CHROMIUM, find
from research_scenes import research
from scenes import SCENES, complaints, kiosk, my_privacy, questions, waiting
from stage import EXAMPLES, Stage
from tutorial import pictures

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}
SOME = (questions, complaints, waiting, kiosk, my_privacy, explore, research)
#: Looks of the pages, and the scenes in each.
SERIES: dict[str, tuple[dict[str, Any], Any]] = {
    "phone": ({"viewport": PHONE}, SCENES),
    "desktop": ({"viewport": DESKTOP}, SCENES),
    "phone-dark": ({"viewport": PHONE, "color_scheme": "dark"}, SOME),
    "phone-arabic": ({"viewport": PHONE, "locale": "ar"}, SOME),
    "desktop-arabic": ({"viewport": DESKTOP, "locale": "ar"}, (questions, complaints)),
}


@contextmanager
def _collector() -> Iterator[Collector]:
    with tempfile.TemporaryDirectory() as folder:
        example = (EXAMPLES / "working-conditions.toml").read_text()
        with command(Path(folder), example) as served:
            yield served


@contextmanager
def _devices(browser: Browser) -> Iterator[Callable[..., Device]]:
    """Yield a maker of devices, which are put away at the end."""
    with ExitStack() as devices:

        def new_device(**options: Any) -> Device:
            device = Device(browser, **options)
            devices.callback(device.context.close)
            return device

        yield new_device


def _series(browser: Browser, served: Collector, name: str, folder: Path) -> Iterator[Path]:
    options, scenes = SERIES[name]
    for scene in scenes:
        with _devices(browser) as new_device:
            stage = Stage(served, partial(new_device, **options))
            for state, page in scene(stage):
                yield _picture(page, folder / f"{state}.{name}.png")


def _picture(page: Page, file: Path) -> Path:
    # Taken from a document that is scrolled to its top, without animations.
    page.screenshot(path=file, full_page=True, animations="disabled")
    return file


def _of_the_tutorial(browser: Browser) -> Iterator[Path]:
    with (
        tempfile.TemporaryDirectory() as folder,
        command(Path(folder), None) as served,
        _devices(browser) as new_device,
    ):
        for name, picture in pictures(served, new_device):
            (PICTURES / f"{name}.png").write_bytes(picture)
            yield PICTURES / f"{name}.png"


def main(folder: Path | None) -> None:
    """Make all pictures, or without a folder those of the tutorial alone; print their names."""
    path = find("chromium") or sys.exit(
        "no Chromium; python tests/programs.py chromium installs one"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        for file in _of_the_tutorial(browser):
            print(file, flush=True)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            with _collector() as served:
                for name in SERIES:
                    for file in _series(browser, served, name, folder):
                        print(file, flush=True)
        browser.close()


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else "screenshots"
    main(None if given == "--tutorial" else Path(given))
