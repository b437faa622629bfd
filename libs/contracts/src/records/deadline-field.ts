/** Deadline of the wait that made an intent or a trigger. Null without a wait, and in records of earlier releases. */
export const DEADLINE_FIELD = {
  name: 'deadline',
  type: ['null', { type: 'long', logicalType: 'timestamp-millis' }],
  default: null,
  doc: 'Deadline of the wait by which the rule fired. Null: it fired at the event.',
} as const;
