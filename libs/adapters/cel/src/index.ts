export { compileRule, type RuleFault } from './compile-rule.ts';
export { createExpressionLanguage, type LanguageOptions } from './expression-language.ts';
