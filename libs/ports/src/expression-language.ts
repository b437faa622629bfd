import type { Expression, ExpressionFault, ExpressionPlace, FormChange } from '@carillon/domain/rules';
import type { Result } from '@carillon/kernel';

/** Checks and compiles expressions of tenants: hostile input. Refuses in under 100 ms whatever it refuses; never throws. */
export type ExpressionLanguage = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
  /**
   * The source after a change of its form; what the change does not name stays to the letter. Refused where the source or the new
   * part is no expression, and where the form has no such part. Of the answer `compile` tells whether its place takes it.
   */
  change(source: string, place: ExpressionPlace, change: FormChange): Result<string, readonly ExpressionFault[]>;
};
