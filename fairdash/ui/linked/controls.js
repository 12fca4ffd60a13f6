// Sliders of the method's axes with Play, the measure looked at, and the cards.
const STEP_MS = 450 // of Play

function controlsPart(host, view, act) {
  const box = d3.select(host)
  let shape = null, timer = 0, playing = null, step = 1

  function build() {
    box.selectAll("*").remove()
    const sliders = box.append("div").attr("class", "sliders")
    view.gridAxes.forEach((axis, i) => slider(sliders, axis, i))
    if (view.data.measures.length > 1 && view.data.shows.includes("measure")) picker()
    box.append("div").attr("class", "cards")
    box.append("p").attr("class", "nearest")
    update()
  }

  function slider(place, axis, i) {
    const row = place.append("div").attr("class", "slider").attr("title", axis.help)
    const head = row.append("div").attr("class", "head")
    head.append("span").text(axis.title)
    const end = head.append("span").attr("class", "end")
    end.append("b").attr("aria-hidden", "true")
    const letter = axis.letter || axis.title
    end.append("button").attr("type", "button").attr("class", "play")
      .attr("aria-pressed", "false").attr("aria-label", `Play ${letter}`)
      .attr("title", `Play: run ${letter} back and forth`).text("▶")
      .on("click", () => (playing === i ? stop() : play(i)))
    const input = row.append("input").attr("type", "range").attr("min", 0)
      .attr("max", axis.values.length - 1).attr("step", 1).attr("aria-label", axis.title)
    const node = input.node()
    node.onpointerdown = () => { stop(); act.hold(true) }
    node.onpointerup = () => act.hold(false)
    node.oninput = () => { act.go(view.nearest(positions())) }
    node.onchange = () => { act.hold(false); act.go(view.nearest(positions())); act.settle() }
    const ticks = row.append("span").attr("class", "ticks").attr("aria-hidden", "true")
    axis.values.forEach((_, k) => ticks.append("i")
      .style("left", `${(100 * k) / Math.max(axis.values.length - 1, 1)}%`))
  }

  const positions = () => box.selectAll("input").nodes().map((input) => +input.value)

  function picker() {
    const label = box.append("label").attr("class", "picker")
    label.append("span").text("Pictures show")
    const select = label.append("select")
    select.selectAll("option").data(view.data.measures).join("option")
      .attr("value", ({ name }) => name).text(({ label: text }) => text)
    select.property("value", view.measure.name)
    select.on("change", () => act.measure(select.property("value")))
  }

  function play(axis) {
    stop()
    playing = axis
    const most = view.gridAxes[axis].values.length - 1
    step = view.gridAt[axis] >= most ? -1 : 1
    timer = setInterval(() => {
      const at = [...view.gridAt]
      if (at[axis] + step < 0 || at[axis] + step > most) step = -step
      at[axis] += step
      const place = view.placeAt(view.gridMethod, at)
      if (place === undefined) return // nothing was trained there
      act.go(place)
    }, STEP_MS)
    buttons()
  }

  function stop() {
    if (playing === null) return
    clearInterval(timer)
    playing = null
    buttons()
    act.settle()
  }

  function buttons() {
    box.selectAll(".play").each(function (_, i) {
      d3.select(this).attr("aria-pressed", String(playing === i)).text(playing === i ? "❚❚" : "▶")
    })
  }

  function update() {
    const now = `${view.gridMethod} ${view.gridAxes.length}`
    if (now !== shape) {
      stop()
      shape = now
      build()
      return
    }
    const at = view.gridAt
    box.selectAll("input").each(function (_, i) {
      const most = Math.max(view.gridAxes[i].values.length - 1, 1)
      // what a hand holds may stand where nothing was trained: it is left there
      if (!act.held()) this.value = at[i]
      this.style.setProperty("--share", `${(100 * this.value) / most}%`)
      this.setAttribute("aria-valuetext", view.gridAxes[i].values[this.value])
      d3.select(this.closest(".slider")).select("b").text(view.gridAxes[i].values[this.value])
    })
    const exact = positions().join() === at.join()
    const other = view.gridMethod !== view.setting.method // without axes, as the plain model
    const grid = view.summary.methods[view.gridMethod].label
    const note = other ? `Shown: ${view.setting.label}. The sliders choose ${grid}.`
      : exact ? "" : `Nearest trained setting: ${view.setting.label}.`
    box.select(".nearest").text(note)
    cards()
  }

  function cards() {
    const { cards: labels, values } = view.data
    const drawn = box.select(".cards").selectAll(".card").data(labels).join((enter) => {
      const card = enter.append("div").attr("class", "card")
      card.append("div").attr("class", "label")
      card.append("div").attr("class", "value")
      const note = card.append("div").attr("class", "note")
      note.append("span").attr("class", "chip")
      note.append("span").attr("class", "rest")
      return card
    })
    const own = values[view.place] ?? []
    drawn.select(".label").text(({ label }) => label).attr("title", ({ help }) => help || null)
    drawn.select(".value").text((_, i) => own[i]?.value ?? "–")
    const delta = (i) => own[i]?.delta ?? ""
    const arrow = (i) => ({ "−": "↓", "+": "↑" }[delta(i)[0]] ?? "")
    drawn.select(".chip").text((_, i) => `${arrow(i)} ${delta(i)}`)
      .style("display", (_, i) => (delta(i) ? null : "none"))
    drawn.select(".rest").text((_, i) => own[i]?.note ?? "")
  }

  build()
  return { update, stop, play, playing: () => playing, isPlaying: () => playing !== null }
}
