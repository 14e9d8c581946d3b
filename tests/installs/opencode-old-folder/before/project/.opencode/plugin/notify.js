export const Notify = async () => ({})
