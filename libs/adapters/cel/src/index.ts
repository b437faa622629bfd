export { createExpressionLanguage, type LanguageOptions } from './expression-language.ts';
