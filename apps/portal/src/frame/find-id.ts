const ID = /^(evt|dlv)_[0-9A-Z]{26}$/;

export type Found = { readonly kind: 'event' | 'delivery'; readonly id: string };

/** What a text names, where it is an id as Carillon writes them; null: it is none. */
export function findId(text: string): Found | null {
  const id = text.trim();
  const [, kind] = ID.exec(id) ?? [];
  if (kind === undefined) return null;
  return { kind: kind === 'evt' ? 'event' : 'delivery', id };
}

/** Whether somebody seems to mean an id, so that a wrong one can be told from a word. */
export const isLikeId = (text: string): boolean => /^[a-z]{3}_/.test(text.trim());
