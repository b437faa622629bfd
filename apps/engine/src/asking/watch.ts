import type { PartnerState } from '@carillon/domain/lookups';
import type { PartnerAnswer } from '@carillon/ports';

/** What happens around partners; bound to metrics and traces by the composition root. */
export type AskWatch = {
  /** Called right before a partner is; the answer is called with what came of it. */
  call(begun: {
    readonly partner: string;
    readonly workspace: string;
    readonly triggers: number;
    /** The event of the first trigger. Its id and trace follow, and the call goes on with that trace. */
    readonly eventId: string | null;
    readonly triggerId: string | null;
    readonly traceparent: string | null;
    /** Traces of the other triggers that share the call. */
    readonly linked: readonly (string | null)[];
  }): (ended: {
    readonly outcome: PartnerAnswer['kind'];
    readonly status: number | null;
    readonly seconds: number;
  }) => void;
  /** Bytes of triggers that wait in memory, and calls that are open. */
  readonly asking: (bytes: number, openCalls: number) => void;
  /** A partner refuses us, or fails: an operator should look. */
  readonly partnerAlert: (partner: string, detail: string) => void;
  readonly partnerState: (partner: string, state: PartnerState) => void;
  trouble(where: string, error: unknown): void;
};
