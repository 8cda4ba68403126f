# SPDX-License-Identifier: BSD-2-Clause
"""A browser, and the pages of every kind of frame."""

import pytest

from tests.cosim.figures import frames as meshes
from tests.cosim.report import frames

KINDS = [meshes.golden, meshes.counted, frames.hardware, frames.scene, frames.recording]


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window; where it is missing the test fails, and says what to install."""
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    try:
        driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    except WebDriverException as error:
        pytest.fail(
            f"no Chromium: type 'apt-get install chromium chromium-driver' "
            f"({str(error).splitlines()[0]})"
        )
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def folder(request, tmp_path_factory):
    """A frame, drawn."""
    return request.param(tmp_path_factory.mktemp("frame"))
