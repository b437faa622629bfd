export * from './assemble.ts';
export * from './found-template.ts';
export * from './languages.ts';
export { withoutPutIns } from './put-in-tags.ts';
export * from './template-includes.ts';
