export { LIMITS } from './limits.ts';
export { createTemplateRenderer, type TemplateRendererOptions } from './renderer.ts';
export { HELPERS } from './vocabulary.ts';
