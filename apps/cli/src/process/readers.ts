/** Who reads what: how far each is behind says what is still to be done. */
export const READERS = [
  ['engine', 'carillon.events'],
  ['engine', 'carillon.triggers'],
  ['engine', 'carillon.lookups'],
  ['engine', 'carillon.cohorts'],
  ['delivery', 'carillon.intents'],
  ['delivery', 'carillon.receipts'],
  ['delivery', 'carillon.consents'],
  ['control', 'carillon.events'],
  ['control', 'carillon.outcomes'],
  ['control', 'carillon.evaluations'],
  ['control', 'carillon.dead-letters'],
] as const;
