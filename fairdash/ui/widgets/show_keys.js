// Keys of the show mode. Scenes are counted from 1; 0 leaves. A control that has the
// focus keeps its arrow keys, those of a remote control always go on and back.
const ARROWS = { ArrowRight: 1, ArrowLeft: -1 }
const ALWAYS = { PageDown: 1, PageUp: -1 }
const USES_ARROWS = "input, select, textarea, [role=slider], [role=application]"
let latest = null // scene, number of scenes and whom to tell, of the latest drawing
let asked = { scene: 0, stamp: 0 } // by the last key

function press(event) {
  if (!latest || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
  if (event.key === "Escape") { latest.tell(0, Date.now()); return }
  const inUse = event.composedPath()[0]?.matches?.(USES_ARROWS)
  const step = ALWAYS[event.key] ?? (inUse ? undefined : ARROWS[event.key])
  const next = latest.at + (step ?? 0)
  if (!step || next < 1 || next > latest.n) return
  event.preventDefault()
  asked = { scene: next, stamp: Math.max(Date.now(), asked.stamp + 1) }
  latest.at = next
  latest.tell(next, asked.stamp)
}

// one listener however often the page is drawn: each drawing calls this anew
export default function ({ data, setStateValue }) {
  if (!latest) addEventListener("keydown", press)
  // a state with a stamp, for a trigger is lost while the page is drawn anew
  const tell = (scene, stamp) => setStateValue("scene", [scene, stamp])
  // a scene drawn before the server heard the last key is not where the reader stands
  const at = data.heard < asked.stamp ? asked.scene : data.at
  const own = { at, n: data.n, tell }
  latest = own
  return () => {
    if (latest !== own) return
    removeEventListener("keydown", press)
    latest = null
    asked = { scene: 0, stamp: 0 }
  }
}
