"""What a page says and offers, as plain text."""

import json


def button(page, label):
    """Return the one button called ``label``."""
    (found,) = [button for button in page.button if button.label == label]
    return found


def widget(page, kind, label):
    """Return the first widget of a kind that is called ``label``."""
    return next(one for one in page.get(kind) if one.label == label)


def labels(page):
    """Return the labels of all buttons."""
    return [button.label for button in page.button]


def numbers(page):
    """Return the value of every KPI by its label."""
    return {metric.label: metric.value for metric in page.metric}


def words(page):
    """Return everything the page says."""
    texts = [*page.title, *page.header, *page.markdown, *page.caption]
    boxes = [*page.error, *page.info]
    said = [str(text.value) for text in [*texts, *boxes]]
    return "\n".join([*said, *(box.proto.title for box in boxes)])


def figures(page):
    """Return the number of figures."""
    return len(page.get("plotly_chart"))


def sent(page, component):
    """Return what a component of the browser was sent, None where it is not."""
    for element in page.get("bidi_component"):
        if element.proto.component_name == f"fairdash.{component}":
            return json.loads(element.proto.json or element.proto.bytes)
    return None


def drawn(page, place=0):
    """Return a figure as Plotly reads it: its ``data`` and ``layout``."""
    return json.loads(page.get("plotly_chart")[place].proto.spec)
