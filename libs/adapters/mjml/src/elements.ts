import { editsBetween } from '@carillon/kernel';

/** All elements of MJML, and those that may hold HTML. */
const WITH_HTML = [
  'mj-accordion-text',
  'mj-accordion-title',
  'mj-button',
  'mj-navbar-link',
  'mj-preview',
  'mj-raw',
  'mj-social-element',
  'mj-style',
  'mj-table',
  'mj-text',
  'mj-title',
] as const;
export const MJML_ELEMENTS: readonly string[] = [
  'mjml',
  'mj-accordion',
  'mj-accordion-element',
  'mj-all',
  'mj-attributes',
  'mj-body',
  'mj-breakpoint',
  'mj-carousel',
  'mj-carousel-image',
  'mj-class',
  'mj-column',
  'mj-divider',
  'mj-font',
  'mj-group',
  'mj-head',
  'mj-hero',
  'mj-html-attribute',
  'mj-html-attributes',
  'mj-image',
  'mj-navbar',
  'mj-section',
  'mj-selector',
  'mj-social',
  'mj-spacer',
  'mj-wrapper',
  ...WITH_HTML,
];

export const isMjml = (name: string): boolean => name === 'mjml' || name.startsWith('mj-');
export const takesHtml = (name: string): boolean => (WITH_HTML as readonly string[]).includes(name);

/** Elements of HTML that have no end. */
export const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
);

/** Elements of HTML that end where the next of the same name begins. */
export const ENDS_BY_ITSELF: ReadonlySet<string> = new Set('dd dt li option p td th tr'.split(' '));

/** Returns the most similar known element name, or null. */
export function meantElement(name: string): string | null {
  const near = MJML_ELEMENTS.map((known) => [editsBetween(name.slice(0, 30), known), known] as const).toSorted(
    ([a], [b]) => a - b,
  )[0];
  return near && near[0] <= 3 ? near[1] : null;
}
