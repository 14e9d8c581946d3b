"""What hooks a project and its user have, where each stands, and which agents load it by themselves."""
