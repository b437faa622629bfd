export * from './categories.ts';
export * from './consents.ts';
export * from './link.ts';
export * from './page.ts';
export * from './person.ts';
export * from './stop-word.ts';
