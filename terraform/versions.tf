# What this module needs: the terraform that reads it, and the provider that its proof was made with.
terraform {
  required_version = ">= 1.9.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.50"
    }
  }
}

data "google_project" "plinth" {
  project_id = var.project_id
}
