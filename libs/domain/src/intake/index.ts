export * from './cut-offs.ts';
