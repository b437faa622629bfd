/** Files that a running process leaves in its data folder for the CLI on the same machine. */
export const OWNER_TOKEN_FILE = 'owner-token';
export const ENDPOINTS_FILE = 'endpoints.json';
