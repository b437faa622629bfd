const ID = /^(evt|dlv)_[0-9A-Z]{26}$/;

export type Found = { readonly kind: 'event' | 'delivery'; readonly id: string };

/** Returns the object of a Carillon id, or null if the text is no id. */
export function findId(text: string): Found | null {
  const id = text.trim();
  const [, kind] = ID.exec(id) ?? [];
  if (kind === undefined) return null;
  return { kind: kind === 'evt' ? 'event' : 'delivery', id };
}

/** Returns true if a text looks like an id, to distinguish a wrong id from a search word. */
export const isLikeId = (text: string): boolean => /^[a-z]{3}_/.test(text.trim());
