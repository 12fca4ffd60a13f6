from hostile_texts import in_every_place, read_back
from markdown_it import MarkdownIt

from fairdash._escaping import as_markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def test_every_text_is_read_back_from_markdown():
    for text in in_every_place():
        begins, inline, ends = PARSER.parse(as_markdown(text))
        assert (begins.type, ends.type) == ("paragraph_open", "paragraph_close")
        assert {part.type for part in inline.children} <= {"text", "text_special"}
        read = "".join(part.content for part in inline.children)
        assert read_back(read.replace("\u2060", "")) == text
