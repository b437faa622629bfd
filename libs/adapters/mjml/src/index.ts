export { createMjmlCompiler, type MjmlCompilerOptions } from './compiler.ts';
export { MJML_LIMITS } from './limits.ts';
