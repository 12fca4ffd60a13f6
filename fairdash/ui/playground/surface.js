// Surfaces of trained models as the browser gets them, and what lies between them.

const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))

// the whole numbers around a place between stops, and how near it is to the second
function around(place, count) {
  const low = Math.min(Math.floor(place), count - 1)
  return [low, Math.min(low + 1, count - 1), place - low]
}

// The surface of a group between four trained settings, as shares.
// Settings are ordered by the second slider, then by the first.
function surface(view, group) {
  const count = view.slider?.stops.length ?? 1
  const [left, right, part] = around(view.place, count)
  const [lower, upper, rise] = around(view.secondPlace, view.second?.stops.length ?? 1)
  const at = (row, column) => view.surfaces[row * count + column][group]
  const a = at(lower, left), b = at(lower, right), c = at(upper, left), d = at(upper, right)
  const out = new Float32Array(a.length)
  for (let i = 0; i < a.length; i++) {
    const low = a[i] * (1 - part) + b[i] * part
    const high = c[i] * (1 - part) + d[i] * part
    out[i] = (low * (1 - rise) + high * rise) / 255
  }
  return out
}

// where the surface crosses one half: segments by cell, linear along its sides
function contour(values, side) {
  const path = []
  const at = (i, j) => values[j * side + i] - 0.5
  const cross = (p, q, a, b) => {
    const share = a / (a - b)
    return [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]
  }
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]]
      const points = []
      for (let k = 0; k < 4; k++) {
        const p = corners[k], q = corners[(k + 1) % 4]
        const a = at(...p), b = at(...q)
        if (a > 0 !== b > 0) points.push(cross(p, q, a, b))
      }
      for (let k = 0; k + 1 < points.length; k += 2) path.push([points[k], points[k + 1]])
    }
  }
  return path
}

// a picture of the surface: one hue, the stronger the likelier outcome 1
function tint(values, side, accent) {
  const probe = new OffscreenCanvas(1, 1).getContext("2d")
  probe.fillStyle = accent
  probe.fillRect(0, 0, 1, 1)
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data
  const image = new ImageData(side, side)
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      const from = values[j * side + i], to = 4 * ((side - 1 - j) * side + i)
      image.data.set([r, g, b, Math.round(from * 96)], to)
    }
  }
  const picture = new OffscreenCanvas(side, side)
  picture.getContext("2d").putImageData(image, 0, 0)
  return picture
}
