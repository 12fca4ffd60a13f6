// Sliders through a finished grid: the browser has the table, the hand sees the numbers.
const LEFT = 46, RIGHT = 12, TOP = 10, BOTTOM = 36, HEIGHT = 230

const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)}%`)
const number = (value) => (value === null ? "–" : value.toFixed(3))

function range(values) {
  const known = values.filter((value) => value !== null)
  const low = Math.min(...known), high = Math.max(...known)
  const margin = 0.06 * (high - low) || 0.01
  return [low - margin, high + margin]
}

function picture(points, chosen, width) {
  const colour = "var(--st-primary-color)"
  const [x0, x1] = range(points.map((point) => point.worst))
  const [y0, y1] = range(points.map((point) => point.accuracy))
  const x = (value) => LEFT + ((value - x0) / (x1 - x0)) * (width - LEFT - RIGHT)
  const y = (value) => HEIGHT - BOTTOM - ((value - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM)
  const seen = (point) => point.worst !== null && point.accuracy !== null
  const dots = points.filter(seen).map((point) =>
    `<circle cx="${x(point.worst).toFixed(1)}" cy="${y(point.accuracy).toFixed(1)}" r="3.5"
      fill="${point.within ? colour : "none"}" stroke="${colour}" opacity=".55"/>`)
  const ring = chosen && seen(chosen)
    ? `<circle class="ring" cx="${x(chosen.worst).toFixed(1)}"
        cy="${y(chosen.accuracy).toFixed(1)}" r="8"/>` : ""
  const ticks = [0, 0.5, 1].map((share) => {
    const across = x0 + share * (x1 - x0), up = y0 + share * (y1 - y0)
    return `<text x="${x(across).toFixed(1)}" y="${HEIGHT - 20}" text-anchor="middle"
      >${across.toFixed(2)}</text><text x="${LEFT - 6}" y="${(y(up) + 4).toFixed(1)}"
      text-anchor="end">${(100 * up).toFixed(0)}%</text>
      <line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(up).toFixed(1)}" y2="${y(up).toFixed(1)}"/>`
  })
  return `${ticks.join("")}${dots.join("")}${ring}<text class="faint" text-anchor="middle"
    x="${width / 2}" y="${HEIGHT - 3}">Worst-1-DI (← fairer), accuracy up</text>`
}

export default function ({ data, parentElement, setStateValue }) {
  const find = (name) => parentElement.querySelector(name)
  const axes = data.axes, inputs = [find("#first"), find("#second")]
  const svg = find("svg"), said = find("output")
  inputs.forEach((input, i) => {
    const axis = axes[i]
    input.parentElement.hidden = !axis
    if (!axis) return
    input.max = axis.values.length - 1
    input.setAttribute("aria-label", `Drag ${axis.name}`)
  })
  find(".sliders").style.colorScheme = data.theme
  // what the server says wins only when it says something new
  if (svg.dataset.stamp !== data.stamp) {
    svg.dataset.stamp = data.stamp
    axes.forEach((axis, i) => { inputs[i].value = axis.start })
  }
  const redraw = () => {
    const at = axes.map((axis, i) => +inputs[i].value)
    axes.forEach((axis, i) => {
      inputs[i].parentElement.querySelector("span").textContent =
        `${axis.name} ${axis.values[at[i]]}`
    })
    const chosen = data.points.find((point) => point.at.every((place, i) => place === at[i]))
    said.textContent = chosen
      ? `Accuracy ${percent(chosen.accuracy)} · DI ${number(chosen.di)} · ` +
        `Worst-1-DI ${number(chosen.worst)} · ${chosen.within ? "within" : "over"} the limit`
      : "this setting did not finish"
    const width = svg.clientWidth || 560
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`)
    svg.innerHTML = picture(data.points, chosen, width)
    return at
  }
  inputs.forEach((input) => {
    input.oninput = redraw
    input.onchange = () => setStateValue("place", redraw())
  })
  redraw()
  const watcher = new ResizeObserver(redraw)
  watcher.observe(svg)
  return () => watcher.disconnect()
}
