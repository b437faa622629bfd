/** What MJML may cost (docs/mjml.md has the same table). */
export const MJML_LIMITS = {
  /** Characters of the source, layout and partials in place. */
  source: 64 * 1024,
  /** Elements, those of HTML counted too. */
  elements: 2000,
  /** Elements inside each other. */
  depth: 32,
  /** Bytes of HTML that come out. */
  output: 256 * 1024,
  /** Milliseconds of work of one compilation. */
  workMs: 2000,
  /** Milliseconds by the clock, for a thread that does not say what it has worked. */
  clockMs: 10_000,
} as const;
