import { describeReason, reasonText, stateText, type Delivery } from '@carillon/domain/deliveries';

/** The state and reason of a delivery as the API returns them: codes with their words. */
export const standingOf = ({ state, reason }: Pick<Delivery, 'state' | 'reason'>) => ({
  state,
  reason,
  state_words: stateText(state),
  reason_words: reasonText(reason),
  sentence: describeReason(reason),
});

type StoryCodes = { readonly state: string | null; readonly reason: string | null };

/** The words of codes of a story, where a state or reason may be of an attempt, a rule or a record. */
export const storyWordsOf = ({ state, reason }: StoryCodes) => ({
  state_words: state === null ? null : stateText(state),
  reason_words: reason === null ? null : reasonText(reason),
});
