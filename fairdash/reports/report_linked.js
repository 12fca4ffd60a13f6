// Draws the linked pictures of a report; on paper as they stand, in the light theme.
for (const source of document.querySelectorAll(".moving script[data-place]")) {
  const host = source.parentElement, root = host.shadowRoot.querySelector(".linked")
  const bytes = Uint8Array.from(atob(source.textContent), (c) => c.charCodeAt(0))
  const data = await read(bytes)
  const pictures = new Linked(root, data, +source.dataset.place, () => {})
  const now = () => pictures.look(data)
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", now)
  addEventListener("beforeprint", () => { host.classList.add("paper"); now() })
  addEventListener("afterprint", () => { host.classList.remove("paper"); now() })
  host.dataset.drawn = "yes"
}
