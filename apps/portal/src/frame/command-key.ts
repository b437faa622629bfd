/** Returns how the key beside letters of commands is called on a platform: ⌘ on Apple's, Ctrl on all others. */
export const commandKeyOf = (platform: string): '⌘' | 'Ctrl' => (/^(?:Mac|iP)/.test(platform) ? '⌘' : 'Ctrl');

/** The command key of this machine. */
export const COMMAND_KEY = commandKeyOf(globalThis.navigator?.platform ?? '');
