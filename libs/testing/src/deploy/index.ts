export { COMPOSE_FOLDER, readCompose, readComposeServices } from './compose.ts';
export type { ComposeFile, ComposeRole, ComposeService } from './compose.ts';
export { KUBERNETES_FOLDER, readManifests } from './kubernetes.ts';
export type { Manifest } from './kubernetes.ts';
