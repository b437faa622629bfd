import type { PolledIntegration } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';

/** Asks for one page of who is in a cohort. */
export type CohortPageCall = {
  readonly integration: PolledIntegration;
  readonly key: string;
  readonly cohort: string;
  /** The `next` of the page before; null: the first page. */
  readonly cursor: string | null;
  readonly signal: AbortSignal;
};

/** Result of reading one page of a cohort. `detail` never contains a key or a user id. */
export type CohortPageAnswer =
  | {
      readonly kind: 'page';
      readonly userIds: readonly string[];
      /** Persons without a usable user id. */
      readonly skipped: number;
      /** Null: this was the last page. */
      readonly next: string | null;
    }
  /** The platform refuses for good: key, project or cohort are not right. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** The call failed, but a retry may succeed. `retryAfter` is the wait that the platform asked for, or null. */
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfter: Duration | null };

/** Platforms that have to be asked who is in a cohort. Never throws for what others do. */
export type CohortPages = { page(call: CohortPageCall): Promise<CohortPageAnswer> };
