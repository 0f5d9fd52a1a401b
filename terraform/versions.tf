# What this module needs: the terraform that reads it, and its provider. The tests hold it against the schema of 8.0.
terraform {
  required_version = ">= 1.9.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7, < 9"
    }
  }
}

data "google_project" "plinth" {
  project_id = var.project_id
}
