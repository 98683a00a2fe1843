// The visible part of a plane. The wheel, fingers, keys and buttons move it.

export class Camera {
  private zoom = 1;
  private x = 0; // the point of the plane in the middle
  private y = 0;
  width = 1;
  height = 1;

  constructor(private readonly moved: () => void) {}

  /** The pixels of one unit of the plane. At zoom 1 the square [-1, 1]² fits the picture. */
  get scale(): number {
    return this.zoom * 0.47 * Math.min(this.width, this.height);
  }

  // In the plane, y grows upwards. On the screen, it grows downwards.
  toScreen(x: number, y: number): [number, number] {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toPlane(px: number, py: number): [number, number] {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  resize(width: number, height: number): void {
    [this.width, this.height] = [Math.max(1, width), Math.max(1, height)];
    this.moved();
  }

  pan(dx: number, dy: number): void {
    this.x = clamp(this.x - dx / this.scale, -1, 1);
    this.y = clamp(this.y + dy / this.scale, -1, 1);
    this.moved();
  }

  /** Zoom by a factor. The given pixel stays in its place. */
  zoomBy(factor: number, px = this.width / 2, py = this.height / 2): void {
    const [x, y] = this.toPlane(px, py);
    this.zoom = clamp(this.zoom * factor, 1, 60);
    const [nx, ny] = this.toPlane(px, py);
    this.x = clamp(this.x + x - nx, -1, 1);
    this.y = clamp(this.y + y - ny, -1, 1);
    this.moved();
  }

  lookAt(x: number, y: number, zoom: number): void {
    [this.x, this.y, this.zoom] = [x, y, Math.max(this.zoom, zoom)];
    this.moved();
  }

  reset(): void {
    [this.x, this.y, this.zoom] = [0, 0, 1];
    this.moved();
  }

  /** Listen to an element. Call `tap` for a click that was not a drag. */
  follow(element: HTMLElement, tap: (px: number, py: number) => void): void {
    const held = new Map<number, [number, number]>();
    let traveled = 0;
    const at = (event: MouseEvent): [number, number] => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoomBy(Math.exp(-clamp(event.deltaY, -120, 120) / 300), ...at(event));
      },
      { passive: false },
    );
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (!held.size) traveled = 0;
      held.set(event.pointerId, at(event));
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      traveled += Math.hypot(dx, dy);
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      held.set(event.pointerId, now);
      if (!other) return this.pan(dx, dy);
      // With two fingers, the plane zooms with their distance and moves with their middle.
      const [old, size] = [before, now].map((p) => Math.hypot(p[0] - other[0], p[1] - other[1])) as [number, number];
      this.pan(dx / 2, dy / 2);
      this.zoomBy(size / Math.max(old, 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    });
    const release = (event: PointerEvent) => {
      if (held.delete(event.pointerId) && event.type === "pointerup" && traveled < 5) tap(...at(event));
    };
    element.addEventListener("pointerup", release);
    element.addEventListener("pointercancel", release);
    element.addEventListener("keydown", (event) => {
      const keys: Record<string, () => void> = {
        ArrowLeft: () => this.pan(60, 0),
        ArrowRight: () => this.pan(-60, 0),
        ArrowUp: () => this.pan(0, 60),
        ArrowDown: () => this.pan(0, -60),
        "+": () => this.zoomBy(1.4),
        "=": () => this.zoomBy(1.4),
        "-": () => this.zoomBy(1 / 1.4),
        "0": () => this.reset(),
        Enter: () => tap(this.width / 2, this.height / 2),
      };
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
