export { COMPOSE_FOLDER, readCompose, readComposeServices } from './compose.ts';
export type { ComposeFile, ComposeRole, ComposeService } from './compose.ts';
