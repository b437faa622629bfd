import type { PartnerState } from '@carillon/domain/lookups';
import type { PartnerAnswer } from '@carillon/ports';

/** Events around partner calls, bound to metrics and traces by the composition root. */
export type AskWatch = {
  /** Called right before a call. The returned function is called with its result. */
  call(begun: {
    readonly partner: string;
    readonly workspace: string;
    readonly triggers: number;
    /** Event of the first trigger. The call continues its trace. */
    readonly eventId: string | null;
    readonly triggerId: string | null;
    readonly traceparent: string | null;
    /** Traces of the other triggers in the call. */
    readonly linked: readonly (string | null)[];
  }): (ended: {
    readonly outcome: PartnerAnswer['kind'];
    readonly status: number | null;
    readonly seconds: number;
  }) => void;
  /** Bytes of waiting triggers, and open calls. */
  readonly asking: (bytes: number, openCalls: number) => void;
  /** A partner refuses our calls or fails, so an operator should check it. */
  readonly partnerAlert: (partner: string, detail: string) => void;
  readonly partnerState: (partner: string, state: PartnerState) => void;
  trouble(where: string, error: unknown): void;
};
