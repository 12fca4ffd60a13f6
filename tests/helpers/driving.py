"""The app driven in Chromium as a reader would drive it."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from toys import people_csv

# an element and its box; one that is drawn anew is another element
LOOK = """one => {
  const { x, y, width, height } = one.getBoundingClientRect()
  return { x, y, width, height, element: one.seen ??= Math.random() }
}"""
SECONDS = 120  # two busy cores may take them for what an idle machine shows at once


def open_window(browser, width=1440, height=900):
    """Return a window whose actions wait until they can be done.

    All share what was loaded: Chromium compiles the scripts of the app once.
    """
    contexts = browser.contexts or [browser.new_context()]
    page = contexts[0].new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.set_default_timeout(SECONDS * 1000)
    return page


def follow(page, name):
    """Go to another page of the open app by its link, which loads no script anew."""
    label = name.replace("_", " ") or "Home"
    menu = page.get_by_test_id("stSidebar")
    menu.get_by_role("link", name=label, exact=True).click()
    expect(page).to_have_title(f"{label} · fairdash")
    page.get_by_role("heading", level=1).wait_for()
    settle(page)


def at_rest(page, width):
    """Wait until a window has its new width and the menu has come to rest beside it."""
    page.wait_for_function(
        """width => {
          const menu = document.querySelector("[data-testid=stSidebar]")
          if (!menu) return false  // the page is still loading
          const { x, right } = menu.getBoundingClientRect()
          const now = `${innerWidth} ${x} ${right}`
          const still = now === window.lastLook && innerWidth === width && x === 0
          window.lastLook = now
          return still && right > 100
        }""",
        arg=width,
        polling=100,
    )
    settle(page)


def still(locator):
    """Wait until an element stays the same, and where it is, for a second; its box."""
    looks = []
    while len(looks) < 6 or any(look != looks[-1] for look in looks[-6:]):
        locator.page.wait_for_timeout(200)
        looks.append(locator.evaluate(f"one => ({LOOK})(one)"))
    return looks[-1]


def fill_in(page, name, value):
    """Type a number into a field and press Enter."""
    field = page.get_by_role("spinbutton", name=name)
    field.fill(str(value))
    field.press("Enter")


def boxes(locator):
    """Return where elements are, by one look: none is drawn anew in between."""
    return locator.evaluate_all(f"all => all.map({LOOK})")


def upload(page, folder):
    """Upload the applicants from Home."""
    path = folder / "people.csv"
    path.write_bytes(people_csv(2000))
    page.get_by_role("button", name="Upload a table").click()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_text("Rows used").wait_for()


def audit(page):
    """Train the plain model from Data, up to what is violations of it."""
    page.get_by_role("button", name="Audit a plain model").click()
    page.get_by_text("Largest by chance").first.wait_for()


def settle(page):
    """Wait until the page's script has ended and its figures are drawn."""
    page.locator("[data-test-script-state=notRunning]").wait_for()
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)  # they are pale
    page.wait_for_function(
        """() => [...document.querySelectorAll(".js-plotly-plot")]
          .every(figure => figure.querySelector(".main-svg"))"""
    )


def lasting_faults(page, *rules):
    """Return what axe finds serious, also a second later: what is redrawn is pale."""
    settle(page)
    if problems := faults(page, *rules):
        page.wait_for_timeout(1000)
        settle(page)
        problems = faults(page, *rules)
    return problems


def faults(page, *rules):
    """Return what axe finds serious, by all rules or some: the rule, the elements."""
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    violations = Axe().run(page, options=options).response["violations"]
    return {
        rule["id"]: [node["html"][:160] for node in rule["nodes"]]
        for rule in violations
        if rule["impact"] in {"serious", "critical"} or rule["id"] == "heading-order"
    }
