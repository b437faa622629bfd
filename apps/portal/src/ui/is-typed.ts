/** As it is read: a page shows blanks that follow each other as one. */
const shown = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

/** Whether somebody typed what a question asks for, as far as they can see it. */
export const isTyped = (said: string, wanted: string): boolean => shown(said) === shown(wanted);
