/** The deadline of an intent or a trigger. Records of earlier releases have none. */
export const DEADLINE_FIELD = {
  name: 'deadline',
  type: ['null', { type: 'long', logicalType: 'timestamp-millis' }],
  default: null,
  doc: 'Deadline of the wait by which the rule fired. Null: it fired at the event.',
} as const;
