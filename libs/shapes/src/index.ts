export * from './bodies.ts';
export { BROKER } from './broker-shapes.ts';
export type { BodyFinding } from './body-finding.ts';
export * from './case-shape.ts';
export { isExpressionLeaf, SLUG, SLUG_WORDS, type FormField } from './shape-parts.ts';
export { FILE_SHAPES, type FileKind, RESOURCE_SHAPES } from './shapes.ts';
export { LISTEN } from './start-shape.ts';
