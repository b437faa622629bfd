/** Bulk decisions about deliveries. `sent` and `failed` settle deliveries in doubt. */
export type BulkAction = 'resend' | 'cancel' | 'sent' | 'failed';

/** The states that each fits; the server says so again. */
const FITS: Readonly<Record<BulkAction, readonly string[]>> = {
  sent: ['IN_DOUBT'],
  failed: ['IN_DOUBT'],
  resend: ['FAILED', 'EXPIRED', 'CANCELLED', 'IN_DOUBT'],
  cancel: ['WAITING', 'COLLECTED'],
};
const ACTIONS: readonly BulkAction[] = ['sent', 'failed', 'resend', 'cancel'];

export const VERBS: Readonly<Record<BulkAction, string>> = {
  sent: 'Mark as sent',
  failed: 'Mark as not sent',
  resend: 'Send again',
  cancel: 'Call off',
};

export const fits = (action: BulkAction, state: string): boolean => FITS[action].includes(state);

/** What all deliveries of these states allow. */
export const actionsOfAll = (states: readonly string[]): readonly BulkAction[] =>
  states.length === 0 ? [] : ACTIONS.filter((action) => states.every((state) => fits(action, state)));
