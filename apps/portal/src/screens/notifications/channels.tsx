export const NotificationChannels = (): null => null;
