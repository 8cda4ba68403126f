# SPDX-License-Identifier: BSD-2-Clause
"""Picture, overlays, histories and draws of a page, by pointer, keyboard and fingers."""

import re

import pytest

from fixfunc.cosim.__main__ import main
from tests.cosim.report import frames
from tests.cosim.report.frames import show, widen

pytestmark = pytest.mark.qualify  # Chromium; and the top takes minutes to build
WIDTHS = (1280, 400)


def said(browser, name):
    return browser.find_element("id", name).text


def box(browser, name):
    """Left, top, width and height of an element in the window, which shows it."""
    script = (
        "const it = document.getElementById(arguments[0]); it.scrollIntoView({block: 'center'});"
        "const b = it.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]"
    )
    return browser.execute_script(script, name)


def touch(browser, kind, *points):
    event = {"type": kind, "touchPoints": [{"x": x, "y": y, "id": n} for n, (x, y) in points]}
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)


def mouse(browser, kind, x, y, **more):
    event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1} | more
    browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def scale(browser):
    """Pixels of the window for one of the picture."""
    return browser.execute_script("return place.scale")


def size(browser):
    return browser.execute_script("return view.size")


def point(browser, x, y):
    """Where a pixel is in the window."""
    left, top, _, _ = box(browser, "stage")
    along, down, by = browser.execute_script("return [place.x, place.y, place.scale]")
    return left + along + (x + 0.5) * by, top + down + (y + 0.5) * by


def no_errors(browser):
    return not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.plan("report-6")
@pytest.mark.parametrize("width", WIDTHS)
def test_every_overlay_is_shown_and_read_out(folder, browser, width):
    """By the arrow keys of the select; each has colours, a legend and a unit."""
    from selenium.webdriver import Keys

    show(browser, folder / "frame.html", width)
    select = browser.find_element("id", "overlay")
    names = browser.execute_script("return Object.keys(view.overlays)")
    assert names[:4] == ["triangles", "overdraw", "overshading", "hiz"] and "depth" in names
    shots = set()
    stage = browser.find_element("id", "stage")
    for name in names:
        select.send_keys(Keys.ARROW_DOWN)
        assert select.get_attribute("value") == name
        assert browser.find_element("id", "map").is_displayed()
        shots.add(stage.screenshot_as_base64)
        title = browser.execute_script("return view.overlays[arguments[0]].title", name)
        bold = browser.find_element("css selector", "#at b").text
        assert bold.startswith(f"{title}: ") and len(bold) > len(title) + 2
        unit = browser.execute_script("return view.overlays[arguments[0]].unit", name)
        assert said(browser, "legend").startswith(unit)
        assert len(browser.find_elements("css selector", "#legend .swatch")) >= 2
    assert len(shots) == len(names)
    assert no_errors(browser)


@pytest.mark.plan("report-6")
def test_what_is_read_out_is_what_was_counted(folder, browser):
    """Of every tile triangles are those that HiZ dropped, accepted or left to the test."""
    show(browser, folder / "frame.html")
    wide, high = size(browser)
    found = 0
    for x, y in [(x, y) for x in range(0, wide, wide // 8) for y in range(0, high, high // 8)]:
        browser.execute_script("move(arguments[0], arguments[1])", x, y)
        text = said(browser, "at")
        assert text.startswith(f"pixel {x}, {y}; ")
        triangles = int(re.search(r"triangles a tile: ([\d,]+)", text)[1].replace(",", ""))
        hiz = re.search(r"HiZ outcome: (\d+) dropped, (\d+) accepted unread, (\d+) tested", text)
        assert sum(map(int, hiz.groups())) == triangles
        found += triangles
    assert found > 5


@pytest.mark.plan("report-6")
def test_opacity_and_wireframe(folder, browser):
    from selenium.webdriver import Keys

    show(browser, folder / "frame.html")
    browser.find_element("id", "overlay").send_keys(Keys.ARROW_DOWN)
    stage = browser.find_element("id", "stage")
    first = stage.screenshot_as_base64
    browser.find_element("id", "opacity").send_keys(Keys.HOME)
    second = stage.screenshot_as_base64
    assert browser.find_element("id", "map").value_of_css_property("opacity") == "0"
    browser.find_element("id", "wire").send_keys(Keys.SPACE)
    third = stage.screenshot_as_base64
    browser.find_element("id", "in").click()
    assert len({first, second, third, stage.screenshot_as_base64}) == 4


@pytest.mark.plan("report-7")
def test_keys_zoom_and_move(folder, browser):
    from selenium.webdriver import ActionChains, Keys

    show(browser, folder / "frame.html")
    wide, high = size(browser)
    stage = browser.find_element("id", "stage")
    least = scale(browser)
    stage.send_keys("+++")
    assert scale(browser) == pytest.approx(least * 1.5**3)
    stage.send_keys("-")
    assert scale(browser) == pytest.approx(least * 1.5**2)
    stage.send_keys(Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_UP)
    assert said(browser, "at").startswith(f"pixel {wide // 2 - 1}, {high // 2 - 2}; ")
    shifted = ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT)
    for _ in range(wide // 16 + 1):
        shifted = shifted.send_keys(Keys.ARROW_RIGHT)
    shifted.key_up(Keys.SHIFT).perform()
    assert said(browser, "at").startswith(f"pixel {wide - 1}, {high // 2 - 2}; ")
    x, _ = point(browser, wide - 1, high // 2 - 2)
    left, _, across, _ = box(browser, "stage")
    assert left < x < left + across  # the cursor is in sight
    stage.send_keys("0")
    assert scale(browser) == pytest.approx(least)


@pytest.mark.plan("report-7")
def test_a_whole_picture_stays_whole_in_another_window(folder, browser):
    """A phone is turned, a window made smaller; what is near stays as near."""
    show(browser, folder / "frame.html")
    drawn = (
        "const done = arguments[0];"
        "requestAnimationFrame(() => requestAnimationFrame(() => done(place.scale / whole())))"
    )
    for width in (400, 1280, 800):
        widen(browser, width)
        assert browser.execute_async_script(drawn) == pytest.approx(1)
    browser.find_element("id", "stage").send_keys("+++++")
    near = scale(browser)
    widen(browser, 1280)
    browser.execute_async_script(drawn)
    assert scale(browser) == pytest.approx(near)


@pytest.mark.plan("report-7")
def test_the_wheel_zooms_where_it_points(folder, browser):
    show(browser, folder / "frame.html")
    x, y = point(browser, 12, 9)
    for _ in range(6):
        mouse(browser, "mouseWheel", x, y, deltaX=0, deltaY=-100)
    browser.execute_async_script("requestAnimationFrame(arguments[0])")
    near = scale(browser)
    assert near > 2 * browser.execute_script("return whole()")
    left, top = point(browser, 12, 9)
    assert (left, top) == pytest.approx((x, y), abs=8)  # events have whole pixels
    moves = [("mouseMoved", by) for by in (10, 20, 30)]  # a browser that drags an image stops them
    for kind, by in (("mousePressed", 0), *moves, ("mouseReleased", 30)):
        mouse(browser, kind, x - by, y - by, buttons=int(kind != "mouseReleased"))
    assert point(browser, 12, 9) == pytest.approx((left - 30, top - 30), abs=1)
    assert said(browser, "which") == "No pixel has been chosen."  # that was no click


@pytest.mark.plan("report-7")
def test_two_fingers_zoom(folder, browser):
    show(browser, folder / "frame.html", 400)
    left, top, wide, high = box(browser, "stage")
    least = scale(browser)
    x, y = left + wide / 2, top + high / 2
    for kind, apart in (("touchStart", 20), ("touchMove", 30), ("touchMove", 60)):
        touch(browser, kind, (0, (x - apart, y)), (1, (x + apart, y)))
    touch(browser, "touchEnd")
    assert scale(browser) == pytest.approx(least * 3, rel=0.1)
    assert browser.execute_script("return document.documentElement.scrollWidth") == 400


@pytest.mark.plan("report-8")
@pytest.mark.parametrize("width", WIDTHS)
def test_a_history_by_click_by_key_and_by_finger(folder, browser, width):
    """All three tell the same of a pixel; the overdraw of a pixel is what its history shades."""
    show(browser, folder / "frame.html", width)
    script = (
        "let best = 0; const count = {};"
        "for (const p of visits.pixel) {"
        "count[p] = (count[p] || 0) + 1; if (count[p] > (count[best] || 0)) best = p; }"
        "return [best % width, row_of(Math.floor(best / width)), count[best]]"
    )
    x, y, many = browser.execute_script(script)
    at = point(browser, x, y)
    mouse(browser, "mousePressed", *at)
    mouse(browser, "mouseReleased", *at)
    first = said(browser, "which"), said(browser, "visits")
    text = f"{many} triangles touch it" if many > 1 else "1 triangle touches it"
    assert first[0] == f"Pixel {x}, {y}: {text}, in the order of drawing."
    lines = browser.find_elements("css selector", "#visits li")
    assert len(lines) == many and lines[0].text.startswith("draw ")
    shaded = browser.execute_script(
        "const f = first(row_of(arguments[1]) * width + arguments[0]);"
        "return [...visits.shaded.slice(f, f + arguments[2])].filter(Boolean).length",
        x,
        y,
        many,
    )
    assert f"overdraw: {shaded};" in said(browser, "at")
    browser.execute_script("history_of(0, 0)")
    assert said(browser, "which") != first[0]
    at = point(browser, x, y)
    touch(browser, "touchStart", (0, at))
    touch(browser, "touchEnd")
    assert (said(browser, "which"), said(browser, "visits")) == first
    browser.execute_script("history_of(0, 0)")
    browser.find_element("id", "stage").send_keys("\ue007")  # Enter
    assert (said(browser, "which"), said(browser, "visits")) == first
    assert no_errors(browser)


@pytest.mark.plan("report-8")
def test_what_a_history_says(browser, tmp_path):
    """A near triangle hides a far one; the rows of the program's window are bottom up."""
    folder = frames.recording(tmp_path)
    show(browser, folder / "frame.html")
    wide, high = size(browser)
    browser.execute_script("history_of(arguments[0], arguments[1])", wide // 10, high - 8)
    near, far = (line.text for line in browser.find_elements("css selector", "#visits li"))
    assert "depth test, less, written, 0.500000 against 1.000000: passes" in near
    assert "written: #ffffffff" in near and near.startswith("draw 0, call ")
    assert far.startswith("draw 1, call ") and far.endswith("nothing is written")
    assert "HiZ drops the tile: no sample can pass" in far or "against 0.500000: fails" in far
    browser.execute_script("history_of(arguments[0], 2)", wide - 2)
    assert said(browser, "which") == f"Pixel {wide - 2}, 2: no triangle touches it."


@pytest.mark.plan("report-5")
def test_a_pixel_that_is_named_has_a_button(browser, tmp_path):
    options = ["--size", "160x90", "--divisions", "2", "--golden", "--pixel", "77,41"]
    assert main(["frame", "teapot", *options, "-o", str(tmp_path)]) == 0
    show(browser, tmp_path / "frame.html")
    button = browser.find_element("css selector", "#named button")
    button.click()
    assert button.text == "pixel 77, 41" and said(browser, "which").startswith("Pixel 77, 41: ")


@pytest.mark.plan("report-9")
@pytest.mark.parametrize("width", WIDTHS)
def test_draws_open_by_keyboard(folder, browser, width):
    """With state, numbers and pictures that are some; in order, or the heaviest first."""
    show(browser, folder / "frame.html", width)
    boxes = browser.find_elements("css selector", "#list details")
    assert len(boxes) == browser.execute_script("return draws.rows.length")
    summary = boxes[-1].find_element("css selector", "summary")
    assert boxes[-1].get_attribute("open")
    summary.send_keys("\ue007")
    assert not boxes[-1].get_attribute("open")
    summary.send_keys("\ue007")
    table = boxes[-1].find_element("css selector", ".state").text
    assert all(subject in table for subject in ("topology", "depth", "stencil", "blend", "cull"))
    numbers = boxes[-1].find_element("css selector", ".numbers").text
    assert re.search(r"samples covered [\d,]+", numbers)
    script = (
        "return [...arguments[0].querySelectorAll('img')].map(it => it.complete * it.naturalWidth)"
    )
    assert min(browser.execute_script(script, boxes[-1])) > 10
    assert len(boxes[-1].find_elements("css selector", "figure")) == 2
    browser.execute_script(
        "const it = document.getElementById('order'); it.value = 'samples_covered';"
        "it.dispatchEvent(new Event('change'))"
    )
    order = browser.execute_script(
        "return [...document.querySelectorAll('#list summary')].map(it => parseInt(it.textContent))"
    )
    covered = browser.execute_script(
        "return draws.rows.map(it => it[2][draws.counters.indexOf('samples_covered')])"
    )
    weights = [covered[n] for n in order]
    assert weights == sorted(covered, reverse=True)
