/** A phone's keyboard shrinks the visual viewport only; the panel follows it. */
export function followViewport(element: HTMLElement): { fit(): void; end(): void } {
  const viewport = window.visualViewport;
  const fit = (): void => {
    if (!viewport || element.hidden) return;
    element.style.setProperty("--view-height", `${viewport.height}px`);
    element.style.setProperty("--view-top", `${viewport.offsetTop}px`);
  };
  viewport?.addEventListener("resize", fit);
  viewport?.addEventListener("scroll", fit);
  return {
    fit,
    end() {
      viewport?.removeEventListener("resize", fit);
      viewport?.removeEventListener("scroll", fit);
    },
  };
}
