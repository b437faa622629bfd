import type { EditedDraft } from '../../api/use-draft.ts';

export type StreamDraft = EditedDraft<'streams'>;
