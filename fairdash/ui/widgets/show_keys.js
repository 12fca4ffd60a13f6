// Keys of the show mode. Scenes are counted from 1; 0 leaves. A control that has the
// focus keeps its arrow keys, those of a remote control always go on and back.
const ARROWS = { ArrowRight: 1, ArrowLeft: -1 }
const ALWAYS = { PageDown: 1, PageUp: -1 }
const USES_ARROWS = "input, select, textarea, [role=slider], [role=application]"

export default function ({ data, setTriggerValue }) {
  let at = data.at
  const press = (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
    if (event.key === "Escape") { setTriggerValue("scene", 0); return }
    const inUse = event.composedPath()[0]?.matches?.(USES_ARROWS)
    const step = ALWAYS[event.key] ?? (inUse ? undefined : ARROWS[event.key])
    const next = at + (step ?? 0)
    if (!step || next < 1 || next > data.n) return
    event.preventDefault()
    at = next
    setTriggerValue("scene", at)
  }
  addEventListener("keydown", press)
  return () => removeEventListener("keydown", press)
}
