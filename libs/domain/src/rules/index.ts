export * from './budget.ts';
export * from './constant-parts.ts';
export * from './expression-form.ts';
export * from './expression.ts';
export * from './program.ts';
export * from './recipient.ts';
export * from './recipients.ts';
export * from './requirement.ts';
