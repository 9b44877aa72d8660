"""Pictures of every page in every state: `python tests/e2e/screenshots.py [FOLDER]`.

Starts the real server, answers the examples in a real browser, on a phone and on a desktop, and
keeps what is seen as PNG files, by default in screenshots/.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from collector import Collector, command
from device import Device
from playwright.sync_api import Browser, Page, sync_playwright
from programs import CHROMIUM, find
from research_scenes import research
from scenes import SCENES, complaints, kiosk, my_privacy, questions, waiting
from stage import EXAMPLES, Stage

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}
SOME = (questions, complaints, waiting, kiosk, my_privacy, research)
#: Looks, and what is seen in them.
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


def _series(browser: Browser, served: Collector, name: str, folder: Path) -> Iterator[Path]:
    options, scenes = SERIES[name]
    for scene in scenes:
        with ExitStack() as devices:

            def new_device(
                devices: ExitStack = devices, options: dict[str, Any] = options, **more: Any
            ) -> Device:
                device = Device(browser, **options, **more)
                devices.callback(device.context.close)
                return device

            for state, page in scene(Stage(served, new_device)):
                yield _picture(page, folder / f"{state}.{name}.png")


def _picture(page: Page, file: Path) -> Path:
    # From a document scrolled to its top, and through no animation.
    page.screenshot(path=file, full_page=True, animations="disabled")
    return file


def main(folder: Path) -> None:
    """Make all pictures; print their names."""
    folder.mkdir(parents=True, exist_ok=True)
    path = find("chromium") or sys.exit(
        "no Chromium; python tests/programs.py chromium installs one"
    )
    with sync_playwright() as playwright, _collector() as served:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        for name in SERIES:
            for file in _series(browser, served, name, folder):
                print(file, flush=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"))
