export { isExpressionLeaf, SLUG, SLUG_WORDS } from './shape-parts.ts';
export { FILE_SHAPES, type FileKind } from './shapes.ts';
export { BROKER, type StartSettings } from './start-shape.ts';
