/** Back to the row that the focus was at last, once what stood in its place is gone. */
export const focusList = (): void =>
  void requestAnimationFrame(() => document.querySelector<HTMLElement>('main [data-key][tabindex="0"]')?.focus());
