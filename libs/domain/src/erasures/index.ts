export {
  ERASURE_PLACES,
  SEALED_RESPONSES_KEPT,
  type Erasure,
  type ErasureCounts,
  type ErasurePlace,
} from './erasure.ts';
export {
  eraseAsking,
  eraseJobItems,
  eraseState,
  isEntryOf,
  renamedConsents,
  type MemoryJudge,
} from './erased-entries.ts';
export { concernsDelivery, ERASED_PERSON, eraseDelivery, isUndecided } from './erased-delivery.ts';
export { hashedEntry } from './hashed-entry.ts';
export { eraseMemory, type IsOfPerson } from './erased-memory.ts';
export {
  createErasureMatcher,
  hashedName,
  isHashedName,
  nameHash,
  type ErasureMatcher,
  type ErasureSubject,
} from './subject.ts';
export { holdsAddress, namesPersonAt, wordsName } from './texts.ts';
