import type { Expression, ExpressionFault, ExpressionPlace, FormChange } from '@carillon/domain/rules';
import type { Result } from '@carillon/kernel';

/**
 * Checks and compiles expressions of tenants, which may be hostile. Refuses an expression within 100 ms, and never
 * throws.
 */
export type ExpressionLanguage = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
  /**
   * Returns the source with one part of its form changed; all other text stays byte for byte. Fails if source or new
   * part is not an expression, or if the form has no such part. `compile` decides whether the result fits its place.
   */
  change(source: string, place: ExpressionPlace, change: FormChange): Result<string, readonly ExpressionFault[]>;
};
