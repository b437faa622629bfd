import type { Expression, ExpressionFault, ExpressionPlace } from '@carillon/domain';
import type { Result } from '@carillon/kernel';

/** Checks and compiles expressions of tenants: hostile input. Refuses in under 100 ms whatever it refuses; never throws. */
export type ExpressionLanguage = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
};
